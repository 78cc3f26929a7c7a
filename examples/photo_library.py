"""A photo library [T 9.4]: photos have contexts, and a client keeps copies of what it follows.

Every photographer has a folder. Beside a photo ``stage.jpg`` lies ``stage.context``, a filter that
says what is known about it: what it shows, and where it was taken. ``PhotoApplication.publish``
describes all photos of the folder to the service, and tells it what has changed since the last
time. ``PhotoApplication.follow`` opens a collection, and ``synchronise`` brings the copies in the
application's own library up to date.

    python examples/photo_library.py --pull
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import posetlib as pl

CONCERTS = (
    'type = "photo" and location = "Helsinki" '
    'and (description contains "concert" or description contains "rock")'
)


class PhotoApplication:
    """One person's application: a folder of photos to share, and a library of copies."""

    def __init__(self, person: str, service: pl.CollectionService, place: Path) -> None:
        self.person = person
        self.photos, self.library = place / person / "photos", place / person / "library"
        for folder in (self.photos, self.library):
            folder.mkdir(parents=True)
        self._service = service
        self._published: set[str] = set()
        #: What the application was told of the collections that it follows.
        self.views: dict[str, pl.CollectionView] = {}
        self.news: list[str] = []

    # -- sharing -----------------------------------------------------------------------------------

    def take(self, name: str, context: str, pixels: bytes = b"pixels") -> None:
        """Take a photo, or change one; its context lies beside it."""
        (self.photos / name).write_bytes(pixels)
        (self.photos / name).with_suffix(".context").write_text(
            f'type = "photo" and {context}', encoding="utf-8"
        )

    def delete(self, name: str) -> None:
        """Delete a photo and its context."""
        (self.photos / name).unlink()
        (self.photos / name).with_suffix(".context").unlink()

    def publish(self) -> None:
        """Tell the service about all photos of the folder: new ones, changed ones, deleted ones."""
        found = set()
        for photo in sorted(self.photos.glob("*.jpg")):
            uri = photo.as_uri()
            context = pl.parse_filter(photo.with_suffix(".context").read_text(encoding="utf-8"))
            contents = hashlib.sha256(photo.read_bytes()).hexdigest()
            description = pl.Description(uri, {"by": self.person, "sha256": contents})
            if uri in self._published:
                self._service.change_description(description, self.person)
                self._service.set_profiles(uri, [context], self.person)
            else:
                self._service.add_profile(description, context, self.person)
            found.add(uri)
        for uri in sorted(self._published - found):
            self._service.remove_object(uri, self.person)
        self._published = found

    # -- following ---------------------------------------------------------------------------------

    def follow(self, collection: str, query: str, *, push: bool) -> None:
        """Follow the photos that match a query: told at once, or when ``ask`` is called."""
        self.views[collection] = pl.CollectionView()
        self._service.open_collection(collection, self.person, self._hear if push else None)
        self._service.add_query(collection, pl.parse_filter(query), self.person)

    def ask(self) -> None:
        """Pull the notes of all collections."""
        for collection in self.views:
            for note in self._service.pull(collection, self.person):
                self._hear(note)

    def _hear(self, note: pl.CollectionNote) -> None:
        self.views[str(note.collection)].apply([note])
        photo = path_of(note.description)
        self.news.append(f"{note.collection} {note.number}: {photo.name} {note.kind}")

    def synchronise(self) -> None:
        """Bring the copies of all collections up to date."""
        for collection in self.views:
            self._service.sync(collection, self.person)

    def copies(self) -> list[str]:
        """Return the names of the copies in the library."""
        return sorted(path.name for path in self.library.iterdir())


class FileSynchroniser:
    """Copies photos to the libraries of those who follow them."""

    def __init__(self) -> None:
        #: The library of each collection.
        self.libraries: dict[str, Path] = {}

    def __call__(self, plan: pl.SyncPlan) -> None:
        """Do what a plan says."""
        library = self.libraries[str(plan.collection)]
        for each in (*plan.create, *plan.update):
            shutil.copy(path_of(each), library / path_of(each).name)
        for each in plan.remove:
            (library / path_of(each).name).unlink()


def path_of(description: pl.Description) -> Path:
    """Return where the photo of a description is."""
    return Path(url2pathname(urlsplit(description.uri).path))


def weekend(place: Path, *, push: bool = True) -> tuple[PhotoApplication, list[str]]:
    """Let bob take photos that amy follows; return her application, and the story."""
    synchroniser = FileSynchroniser()
    service = pl.CollectionService(synchroniser=synchroniser)
    bob, amy = (PhotoApplication(person, service, place) for person in ("bob", "amy"))
    synchroniser.libraries["concerts"] = amy.library
    story: list[str] = []

    def tell(what: str) -> None:
        amy.ask()
        amy.synchronise()
        story.append(f"{what}: {', '.join(amy.news) or 'no news'}")
        story.append(f"  amy's library: {', '.join(amy.copies()) or 'empty'}")
        amy.news.clear()

    bob.take("stage.jpg", 'location = "Helsinki" and description = "rock on stage"')
    bob.take("ferry.jpg", 'location = "Helsinki" and description = "ferries at noon"')
    bob.publish()
    amy.follow("concerts", CONCERTS, push=push)
    tell("amy follows concerts in Helsinki")

    bob.take("crowd.jpg", 'location = "Turku" and description = "concert crowd"')
    bob.take("encore.jpg", 'location = "Helsinki" and description = "end of the concert"')
    bob.publish()
    tell("bob publishes two more photos, one of them taken in Turku")

    bob.take("crowd.jpg", 'location = "Helsinki" and description = "concert crowd"')
    bob.take("stage.jpg", 'location = "Helsinki" and description = "rock on stage"', b"brighter")
    bob.publish()
    tell("bob corrects where one was taken, and makes another one brighter")

    bob.delete("encore.jpg")
    bob.publish()
    tell("bob deletes a photo")
    return amy, story


def main() -> None:
    """Print what amy hears, and the copies that she has."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pull", action="store_true", help="amy asks, and is not told at once")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for line in weekend(Path(folder), push=not options.pull)[1]:
            print(line)


if __name__ == "__main__":
    main()
