"""Networks of brokers for the page: the text of a run, the run itself, and what there is to see."""
