# Clones, fetches, commits and pushes by git's smart HTTP, and says what it has then.
# GIT_SHOP is the service's address; OTHER a clone that pushes in between; $1 the folder to work in.
set -e
mkdir "$1"; cd "$1"
step() { printf '["%s", "%s"]\n' "$1" "$(git -C "$2" rev-parse "$3" | tr '\n' ' ')"; }

git clone -q "$GIT_SHOP/shop.git" mine
step clone mine 'HEAD^{tree}'
git clone -q --depth 2 --branch v1 "$GIT_SHOP/shop.git" shallow
step shallow shallow HEAD
git ls-remote -q "$GIT_SHOP/shop.git" | sed 's/\t.*//' | sort -u | wc -l | sed 's/.*/["refs", &]/'

cd mine
git checkout -q -b work
printf 'changed\0binary\377' > new; git add new; git commit -q -m 'changed 改'
git push -q origin work
step push . origin/work

# More than http.postBuffer: git asks with an empty request first, then sends the pack in chunks.
i=0; while [ $i -lt 40 ]; do cp file-6 "big-$i"; printf '%s' "$i" >> "big-$i"; i=$((i + 1)); done
git add -A; git commit -q -m big
git -c http.postBuffer=1024 push -q origin work
step pushed-in-chunks . origin/work

# A history of its own, so that a fetch has much to negotiate and sends it zipped.
cd ../shallow
git fetch -q --unshallow origin
step unshallow . 'HEAD~20'
git fetch -q origin refs/heads/work:refs/heads/fetched
step fetched . fetched
git push -q origin :refs/heads/branch-1
git ls-remote -q origin 'refs/heads/branch-1' | wc -l | sed 's/.*/["deleted", &]/'
