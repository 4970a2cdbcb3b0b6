#!/bin/sh
touch tested
echo "all tests pass on $SHELF"
