# Refuses to delete from the root or the home. Exit code 2 blocks; stderr is
# the reason that the model reads.
input=$(cat)
case $input in
  *'rm -rf /"'* | *'rm -rf / '* | *'rm -rf ~'*)
    echo "rm -rf on / or ~ is not allowed here" >&2
    exit 2
    ;;
esac
exit 0
