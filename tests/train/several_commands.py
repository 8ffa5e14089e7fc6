"""Runs several regard commands in one process, for torchrun, which is slow to start."""

import json
import sys

import torch.distributed as dist

from regard.cli import main

if __name__ == "__main__":
    dist.init_process_group("gloo")
    for arguments in json.loads(sys.argv[1]):
        try:
            main(arguments)
        except SystemExit as ended:
            if ended.code:
                raise
    dist.destroy_process_group()
