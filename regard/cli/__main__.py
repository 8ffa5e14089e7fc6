"""``python -m regard.cli``: the command for launchers that start modules, such as torchrun."""

from regard.cli import main

if __name__ == "__main__":
    main()
