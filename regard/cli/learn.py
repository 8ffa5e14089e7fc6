"""``regard learn``: the course, chapter by chapter, on a terminal or as a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from regard.errors import RegardError


@click.command()
@click.argument("chapter", required=False)
@click.option("--lang", metavar="LANGUAGE", help="en or zh; else what the system's locale says.")
@click.option("--page", type=int, help="Begin at this page of the chapter, from 1.")
@click.option("--no-run", is_flag=True, help="Show what the samples print and run none of them.")
@click.option("--html", "html_to", metavar="FILE", help="Write the whole course as one HTML file.")
@click.option("--folder", metavar="FOLDER", help="Write it as a folder for any web server.")
@click.option(
    "--living",
    type=click.Choice(["shipped", "all", "none"]),
    help="With --html, --folder: models that run in it; all is minilm (60 MB) too.",
)
@click.option("--notebooks", metavar="FOLDER", help="Write a Jupyter notebook for each chapter.")
@click.option("--figures", metavar="FOLDER", help="Write pictures for slides: SVG and PNG.")
@click.option("--reset", is_flag=True, help="Forget where you were and what you solved.")
def learn(
    chapter: str | None,
    lang: str | None,
    page: int | None,
    no_run: bool,
    html_to: str | None,
    folder: str | None,
    living: str | None,
    notebooks: str | None,
    figures: str | None,
    reset: bool,
) -> None:
    """Learn attention: CHAPTER (a number or a name), or the list of chapters.

    A chapter is shown page by page. Its commands run for real, its exercises are checked; your
    place is remembered. In a pipe the chapter is printed as text.

    \b
    regard learn
    regard learn 1
    regard learn 5 > five.txt
    regard learn --html course.html
    regard learn --folder course
    regard learn --notebooks notebooks
    """
    from regard.learn.bookmarks import Bookmarks
    from regard.learn.course import chapters, find_chapter, language_of

    language = lang or language_of()
    if page is not None and chapter is None:
        raise RegardError("--page is a page of a CHAPTER: name one")
    if living is not None and html_to is None and folder is None:
        raise RegardError("--living is of the course as a page: add --html FILE or --folder FOLDER")
    wanted = {"html": html_to, "folder": folder, "notebooks": notebooks, "figures": figures}
    if any(to is not None for to in wanted.values()):
        if chapter is not None:
            options = ", ".join(f"--{name}" for name in wanted)
            raise RegardError(f"{options} are of the whole course: leave CHAPTER out")
        _write(language, living or "shipped", **wanted)
        return
    marks = Bookmarks.load()
    if reset:
        marks.reset()
        click.echo("Forgotten: every chapter begins anew.")
        return
    from regard.cli.shared.lesson import Lesson, print_chapter, print_contents

    if chapter is None:
        print_contents(chapters(language), marks, language)
        return
    found = find_chapter(chapter, language)
    if page is not None and not 1 <= page <= len(found.pages):
        raise RegardError(f"chapter {found.number} has pages 1 to {len(found.pages)}, got {page}")
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        Lesson(found, marks, language, run=not no_run).start(None if page is None else page - 1)
    else:
        print_chapter(found, found.pages[(page or 1) - 1 :], language)


def _write(
    language: str,
    living: str,
    html: str | None,
    folder: str | None,
    notebooks: str | None,
    figures: str | None,
) -> None:
    """The whole course in each form that is asked for."""
    if html is not None:
        _write_html(html, language, living)
    if folder is not None:
        _write_folder(Path(folder), language, living)
    if notebooks is not None:
        _write_notebooks(Path(notebooks), language)
    if figures is not None:
        _write_figures(Path(figures), language)


def _write_html(to: str, language: str, living: str) -> None:
    from regard.cli.shared.output import check_outputs
    from regard.files import write_text
    from regard.learn.course import chapters

    check_outputs(html=to)
    course = chapters(language)
    from regard.learn.edition import edition
    from regard.views.page.course import LivingPages, course_html

    pages = LivingPages(inside=_living_pages(language, living))
    text = course_html(edition(course, language), pages)
    write_text(to, text)
    click.echo(f"Written: {to} ({len(text.encode()) / 1e6:.1f} MB, {len(course)} chapters)")


def _write_folder(folder: Path, language: str, living: str) -> None:
    from regard.files import write_text
    from regard.learn.course import chapters
    from regard.learn.edition import edition
    from regard.views.page.course import LivingPages, course_html

    folder.mkdir(parents=True, exist_ok=True)
    pages = _living_pages(language, living)
    for name, text in pages.items():
        write_text(folder / f"{name}.html", text)
    beside = LivingPages(beside={name: f"{name}.html" for name in pages})
    write_text(folder / "index.html", course_html(edition(chapters(language), language), beside))
    click.echo(f"Written: {folder / 'index.html'} and {len(pages)} living pages beside it")


def _living_pages(language: str, which: str) -> dict[str, str]:
    """The living pages of the course, by their names."""
    from regard.learn.course import chapters

    parts = [part for chapter in chapters(language) for part in chapter.living]
    if which == "shipped":
        parts = [part for part in parts if "minilm" not in part.models]
    if which == "none" or not parts:
        return {}
    from regard.live.carried import carry
    from regard.live.file import live_html

    made = {}
    for part in parts:
        click.echo(f"a living page of {', '.join(part.models)} …", err=True)
        made[part.name] = live_html([carry(m, examples=part.sentences) for m in part.models])
    return made


def _write_notebooks(folder: Path, language: str) -> None:
    from regard.files import write_text
    from regard.learn.course import chapters
    from regard.learn.notebook import notebook

    folder.mkdir(parents=True, exist_ok=True)
    for chapter in chapters(language):
        content = json.dumps(notebook(chapter, language), ensure_ascii=False, indent=1)
        write_text(folder / f"{chapter.name}.ipynb", content + "\n")
    click.echo(f"Written: {len(chapters(language))} notebooks in {folder}")


def _write_figures(folder: Path, language: str) -> None:
    from regard.learn.course import chapters
    from regard.learn.figures import course_figures
    from regard.views.picture.file import check_picture
    from regard.views.picture.slide import save_slide

    check_picture()
    folder.mkdir(parents=True, exist_ok=True)
    for figure in course_figures(chapters(language)):
        for kind in ("svg", "png"):
            save_slide(
                folder / f"{figure.name}.{kind}",
                kind,
                figure.kind,
                figure.values,
                rows=figure.rows,
                columns=figure.columns,
                along=figure.along,
                title=figure.title,
            )
        click.echo(f"Written: {folder / figure.name}.svg, .png")
