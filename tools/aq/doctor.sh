# `./aq doctor`: what this machine lacks, and how to mend it. `aq` sources it.
# shellcheck shell=bash disable=SC2154,SC2034  # aq sets and reads these variables

problems=0
ok() { printf '%sOK  %s  %s\n' "$green" "$plain" "$*"; }
warn() { printf '%sWARN%s  %s\n' "$yellow" "$plain" "$*"; }
bad() { printf '%sFAIL%s  %s\n' "$red" "$plain" "$*"; problems=$((problems + 1)); }

doctor_packages() {
  if ! command -v dpkg-query >/dev/null; then
    warn "packages: this is not Debian, so not checked; needed are ${packages[*]}"
    return
  fi
  local lacking
  mapfile -t lacking < <(missing "${packages[@]}")
  if [[ ${#lacking[@]} -gt 0 ]]; then bad "packages missing: ${lacking[*]}; run ./aq setup"; else ok "packages"; fi
  mapfile -t lacking < <(missing "${packages_clang[@]}")
  if [[ ${#lacking[@]} -gt 0 ]]; then
    warn "packages missing: ${lacking[*]}; only .ci/run and ./aq format need them: ./aq setup clang"
  else
    ok "packages of the second compiler"
  fi
  mapfile -t lacking < <(missing "${packages_launchers[@]}")
  if [[ ${#lacking[@]} -gt 0 ]]; then
    warn "packages missing: ${lacking[*]}; tests that start jobs with them are skipped: ./aq setup launchers"
  else
    ok "packages of launchers"
  fi
}

# doctor_compiler NAME LEAST: LEAST is the lowest supported version
doctor_compiler() {
  local version
  if ! command -v "$1" >/dev/null; then
    if [[ $1 == g++ ]]; then bad "no g++; run ./aq setup"; else warn "no $1; only .ci/run needs it: ./aq setup clang"; fi
    return
  fi
  version=$("$1" -dumpversion)
  if [[ ${version%%.*} -ge $2 ]]; then ok "$1 $version"; else bad "$1 $version is older than $2, which C++20 needs"; fi
}

doctor_shm() {
  local free
  if ! [[ -d /dev/shm && -w /dev/shm ]]; then
    bad "/dev/shm is missing or not writable: mount -t tmpfs tmpfs /dev/shm"
    return
  fi
  free=$(df --output=avail -BM /dev/shm | tail -n 1 | tr -dc 0-9)
  if [[ $free -ge 1024 ]]; then
    ok "/dev/shm: $free MiB free"
  elif [[ $free -ge 64 ]]; then
    warn "/dev/shm: only $free MiB free, for all ranks' segments: mount -o remount,size=4G /dev/shm (docker: --shm-size=4g), or a smaller AQUEDUCT_SEGMENT_BYTES"
  else
    bad "/dev/shm: $free MiB free is too little for two ranks: mount -o remount,size=4G /dev/shm (docker: --shm-size=4g)"
  fi
}

doctor_limits() {
  local files locked
  files=$(ulimit -n)
  if [[ $files == unlimited || $files -ge 1024 ]]; then
    ok "open files: $files"
  else
    warn "open files: a limit of $files is too low for many ranks: ulimit -n 4096"
  fi
  locked=$(ulimit -l)
  if [[ $locked == unlimited || $locked -ge 65536 ]]; then
    ok "locked memory: $locked KiB"
  else
    warn "locked memory: $locked KiB; RDMA conduits need more (smp, udp and loop do not): ulimit -l unlimited, or memlock in /etc/security/limits.conf"
  fi
}

# Whether one process may copy from another process's memory, as ranks of one user do.
doctor_cma() {
  local scope
  scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo none)
  case $scope in
    none | 0) ok "ptrace (yama): $scope, ranks may access one another's memory" ;;
    *) warn "ptrace (yama): scope $scope; smp asks the kernel for permission per rank, and copies through its segment if refused: sysctl kernel.yama.ptrace_scope=0" ;;
  esac
  if ! command -v python3 >/dev/null; then
    warn "process_vm_readv (CMA): not checked, python3 is missing"
  elif python3 - <<'END' 2>/dev/null
import ctypes, os, sys
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]
here, there = ctypes.create_string_buffer(8), ctypes.create_string_buffer(b"aqueduct", 8)
end_read, end_write = os.pipe()
child = os.fork()
if child == 0:
    os.close(end_write)
    os.read(end_read, 1)
    os._exit(0)
call = ctypes.CDLL(None, use_errno=True).process_vm_readv
to, of = Piece(ctypes.addressof(here), 8), Piece(ctypes.addressof(there), 8)
got = call(child, ctypes.byref(to), ctypes.c_ulong(1), ctypes.byref(of), ctypes.c_ulong(1), ctypes.c_ulong(0))
os.close(end_write)
os.waitpid(child, 0)
sys.exit(got != 8 or here.raw != b"aqueduct")
END
  then
    ok "process_vm_readv (CMA) works"
  else
    warn "process_vm_readv (CMA) is refused: large transfers outside segments take two copies; in a container: --cap-add=SYS_PTRACE"
  fi
}

# doctor_socket_buffer LIMIT WANTED WHOSE: WANTED is the bytes that udp asks for (defaults of AQUEDUCT_UDP_…_BUFFER).
doctor_socket_buffer() {
  local limit name=/proc/sys/${1//.//}
  if ! [[ -r $name ]]; then
    warn "$1: cannot be read, so udp's $3 buffers may be smaller than it asks for"
    return
  fi
  limit=$(<"$name")
  if [[ $limit -ge $2 ]]; then
    ok "$1: $limit bytes"
  else
    warn "$1: $limit bytes; udp asks for $2 in its $3 buffers, and is slower with less: sysctl -w $1=$2 (and in /etc/sysctl.d/ for good)"
  fi
}

doctor_sockets() {
  doctor_socket_buffer net.core.rmem_max 4194304 receive
  doctor_socket_buffer net.core.wmem_max 1048576 send
}

doctor_huge_pages() {
  local thp=/sys/kernel/mm/transparent_hugepage mode='' pool
  if [[ -r $thp/shmem_enabled ]]; then mode=$(sed 's/.*\[\(.*\)\].*/\1/' "$thp/shmem_enabled"); fi
  pool=$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)
  case $mode in
    always | advise | within_size | force) ok "huge pages: shared memory gets them ($mode); ${pool:-0} free in the pool" ;;
    *)
      if [[ ${pool:-0} -gt 0 ]]; then
        ok "huge pages: $pool free in the pool"
      else
        warn "huge pages: none for shared memory; large segments are a little slower: echo advise > $thp/shmem_enabled"
      fi
      ;;
  esac
}

doctor_cores() {
  if [[ $cores -ge 2 ]]; then
    ok "$cores cores"
  else
    warn "1 core: everything works, but ranks take turns, and figures of ./aq bench mean little"
  fi
}

doctor() {
  doctor_packages
  doctor_compiler g++ 12
  doctor_compiler clang++ 14
  doctor_shm
  doctor_limits
  doctor_cma
  doctor_sockets
  doctor_huge_pages
  doctor_cores
  [[ $problems -eq 0 ]] || fail "$problems of these must be fixed first"
}
