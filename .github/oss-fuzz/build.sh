.ci/fuzz --list |
