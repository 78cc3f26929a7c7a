"""Other data models beside records: tuples, documents and objects."""

from posetlib.models.documents import Document, read_xml
from posetlib.models.notifications import (
    notification_text,
    read_documents,
    read_notification,
    xml_value,
)
from posetlib.models.objects import ObjectView, Readers
from posetlib.models.path_index import PathIndex
from posetlib.models.paths import DocumentPath
from posetlib.models.tuples import parse_template, template_text, tuple_record

__all__ = [
    "Document",
    "DocumentPath",
    "ObjectView",
    "PathIndex",
    "Readers",
    "notification_text",
    "parse_template",
    "read_documents",
    "read_notification",
    "read_xml",
    "template_text",
    "tuple_record",
    "xml_value",
]
