# cmake -D program=… -D threads=SEQ|PAR -P texts.cmake
#
# The texts by which GASNet's harnesses know a client's executable.

file(STRINGS "${program}" texts REGEX "[$]GASNet[A-Za-z]+: [^$]* [$]")
string(JOIN "\n" texts ${texts})
set(release "RELEASE=[0-9]+\\.[0-9]+\\.[0-9]+")
foreach(wanted "ConduitName: AQUEDUCT" "ThreadModel: GASNET_${threads}" "Segment: GASNET_SEGMENT_FAST" "APIVersion: 1"
    "EXAPIVersion: 0\\.[0-9]+" "DefaultMaxSegsizeStr: 0\\.85/H" "CoreLibraryName: AQUEDUCT" "CoreLibraryVersion: [0-9.]+"
    "ExtendedLibraryName: AQUEDUCT" "ExtendedLibraryVersion: [0-9.]+" "ToolsThreadModel: ${threads}"
    "Config: [(]libgasnet[)] ${release},SPEC=0\\.[0-9]+,CONDUIT=AQUEDUCT[^ ]*,THREADMODEL=${threads},SEGMENT=FAST,[^ ]*"
    "ToolsConfig: ${release},SPEC=1\\.[0-9]+,PTR=64bit,nodebug,${threads},[^ ]*")
  if(NOT texts MATCHES "[$]GASNet${wanted} [$]")
    message(FATAL_ERROR "${program} has no text $GASNet${wanted} $, but these:\n${texts}")
  endif()
endforeach()
