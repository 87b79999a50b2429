#!/usr/bin/env bash
# The OSU micro-benchmarks under `cairn run --verify`: each one that builds, with both MPIs, short runs.
#   hack/bench/osu.sh SOURCE [WORK]
# SOURCE is a folder with the benchmarks (https://mvapich.cse.ohio-state.edu/benchmarks/, 5.x or
# 7.x), which is not changed. They are built in WORK (default: a temporary folder). Prints a line
# per benchmark: calls compared, or what went wrong.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source=${1:?usage: hack/bench/osu.sh SOURCE [WORK]}
work=${2:-$(mktemp -d)}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# programs DIR: the folder of the MPI programs in C, in 7.x and before
programs() { if [ -d "$1/c/mpi" ]; then echo "$1/c/mpi"; else echo "$1/mpi"; fi; }

# build MPI: the benchmarks with messages up to 64 KiB and few repetitions of the large ones
build() {
  local dir=$work/$1
  [ -e "$dir/built" ] && return
  mkdir -p "$dir"
  cp -r "$source/." "$dir"
  chmod -R u+w "$dir"
  chmod +x "$dir/configure"
  grep -rlE 'MAX_(MSG|MESSAGE)_SIZE|LOOP_LARGE' "$dir" --include=*.h --include=*.c | xargs -r sed -i -E \
    -e 's/^(#define +(MAX_MSG_SIZE|MAX_MESSAGE_SIZE)) .*/\1 (1<<16)/' -e 's/^(#define +\w*LOOP_LARGE) .*/\1 5/'
  (cd "$dir" && touch aclocal.m4 && sleep 1 && find . -name 'Makefile.in' -o -name configure -o -name config.h.in | xargs touch &&
    ./configure CC="mpicc.$1" CXX="mpicxx.$1" >configure.log 2>&1 && make -k -C "$(programs .)" >make.log 2>&1) || true
  touch "$dir/built"
}

ranks() {
  case $1 in
    */pt2pt/* | */one-sided/*) echo 2 ;;
    *) echo 4 ;;
  esac
}

yield=$work/yield.so
mkdir -p "$work"
gcc -O2 -shared -fPIC -o "$yield" "$root/test/mpi/yield/ucp_yield.c"
failed=0
printf '%-10s %-24s %5s  %s\n' MPI benchmark ranks result
for mpi in openmpi mpich; do
  build "$mpi"
  launch=(mpirun.$mpi)
  [ "$mpi" = openmpi ] && launch+=(--oversubscribe --mca mpi_yield_when_idle 1)
  while read -r program; do
    name=$(basename "$program") n=$(ranks "$program")
    log=$work/$mpi-$name.log
    rm -rf "$work/out"
    options=(-i 10 -x 2)
    case $program in */startup/*) options=() ;; esac
    LD_PRELOAD=$yield timeout 120 "$root/bin/cairn" run --verify -o "$work/out" -- "${launch[@]}" -np "$n" "$program" "${options[@]}" >"$log" 2>&1 </dev/null && code=0 || code=$?
    if [ $code = 0 ] && grep -q "agree with the reference log" "$log"; then
      result=$(grep -o 'all [0-9]* calls on [0-9]* ranks agree' "$log")
    else
      result="FAILED ($code): $(grep -m1 -E '^cairn: verify|^cairn:|rror' "$log" | cut -c1-160)"
      failed=1
    fi
    printf '%-10s %-24s %5d  %s\n' "$mpi" "$name" "$n" "$result"
  done < <(find "$(programs "$work/$mpi")" -type f -name 'osu_*' -perm -u+x ! -name '*.c' ! -name '*.h' | grep -v /.libs/ | sort)
done
exit $failed
