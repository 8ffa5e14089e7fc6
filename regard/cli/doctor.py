"""``regard doctor``: what computes attention on this machine, and what is installed."""

from __future__ import annotations

import click


@click.command()
@click.option("--compile", "compiles", is_flag=True, help="Compile the native kernel first.")
def doctor(compiles: bool) -> None:
    """Say which kernel computes attention here and why, and what is installed.

    Attention is computed by regard's native kernel where it is compiled and faster (with gradients
    up to some length), else by PyTorch. The environment variable REGARD_KERNEL=off forces PyTorch,
    and the name of a variant (avx512, avx2, portable, neon) that variant.
    """
    from regard.doctor import compile_kernel, report

    if compiles:
        click.echo(compile_kernel())
    for name, value in report():
        click.echo(f"{name:<14}{value}" if name else "")
