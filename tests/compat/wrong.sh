#!/usr/bin/env bash
# wrong.sh <aqrun> <client> <1 if the build is checked> <targets> [<options of aqrun…>]: each mistake ends the job with a line that names
# the call. The targets are "self next", or "next", which leaves out what needs no network.
set -uo pipefail
run=$1 client=$2 checked=$3 targets=$4
shift 4

# <case> <self or next> <pattern>
ends() {
  local said status
  said=$("$run" --timeout 20 -n 2 "${options[@]}" "$client" "$1" "$2" 2>&1)
  status=$?
  if [[ $status -ne 1 || ! $said =~ "FATAL ERROR (rank "[01]"): "$3 ]]; then
    printf 'wrong.sh: %s to %s ends with status %s and says:\n%s\n' "$1" "$2" "$status" "$said" >&2
    exit 1
  fi
}
options=("$@")
# Short transfers are inline in the client, so only those of checked builds look at its pointers.
shorts=(short_put:PutBlocking short_put_nb:PutNB short_put_nbi:PutNBI short_get:GetBlocking short_get_nb:GetNB short_get_nbi:GetNBI)
for to in $targets; do
  if [[ $checked == 1 ]]; then
    for short in "${shorts[@]}"; do
      ends "${short%:*}" $to "gex_RMA_${short#*:}: (a null pointer|invalid_argument)"
    done
  fi
  ends medium $to 'gex_AM_RequestMedium: (a null pointer|invalid_argument)'
  ends long $to 'gex_AM_RequestLong: (a null pointer|invalid_argument)'
  ends reply $to 'gex_AM_ReplyLong: (a null pointer|invalid_argument)'
  ends put $to 'gex_RMA_PutBlocking: (a null pointer|invalid_argument)'
  ends put_nb $to 'gex_RMA_PutNB: (a null pointer|invalid_argument)'
  ends put_nbi $to 'gex_RMA_PutNBI: (a null pointer|invalid_argument)'
  ends get $to 'gex_RMA_GetBlocking: (a null pointer|invalid_argument)'
  ends get_nb $to 'gex_RMA_GetNB: (a null pointer|invalid_argument)'
  ends get_nbi $to 'gex_RMA_GetNBI: (a null pointer|invalid_argument)'
  ends vector_put $to 'gex_VIS_VectorPut: (a null pointer|invalid_argument)'
  ends vector_get $to 'gex_VIS_VectorGet: (a null pointer|invalid_argument)'
  ends indexed_put $to 'gex_VIS_IndexedPut: (a null pointer|invalid_argument)'
  ends indexed_get $to 'gex_VIS_IndexedGet: (a null pointer|invalid_argument)'
  ends strided_put $to 'gex_VIS_StridedPut: (a null pointer|invalid_argument)'
  ends strided_get $to 'gex_VIS_StridedGet: (a null pointer|invalid_argument)'

  ends commit_elsewhere $to 'gex_AM_Commit: .*destination'
  ends atomic_op $to 'gex_AD_Op: .*operation'
  ends atomic_type $to 'gex_AD_Op: .*type'
  ends atomic_place $to 'gex_AD_OpNB: misaligned'
  ends two_replies $to 'gex_AM_ReplyShort: (only a request|invalid_argument)'
  ends reply_to_reply $to 'gex_AM_ReplyShort: (only a request|invalid_argument)'
  # Undefined; elsewhere a network's library looks at addresses.
  [[ $checked == 0 && ( $to == self || $targets != next ) ]] && continue
  ends outside $to 'gex_RMA_PutBlocking: .*outside of (its|the) bound segment'
  ends outside_get $to 'gex_RMA_GetNB: '
  ends outside_vector $to 'gex_VIS_VectorPut: '
  ends outside_indexed $to 'gex_VIS_IndexedGet: '
  ends outside_long $to 'gex_AM_RequestLong: .*outside of (its|the) bound segment'
done
if [[ $targets == next ]]; then  # over a network, where events are held
  options+=(-e AQUEDUCT_OPERATIONS=16)
  ends held_broadcast next 'gasnet_coll_broadcast: AQUEDUCT_OPERATIONS events are held'
  ends held_barrier next 'gasnet_coll_broadcast: AQUEDUCT_OPERATIONS events are held'  # the barrier before it needs none
  echo 'all right'
  exit 0
fi
ends forked next 'gex_RMA_PutBlocking: '
ends segment_limit self "gasnet_max_segsize_str: 'a lot' is no size"
ends region_twice self 'gex_NBI_BeginAccessRegion: a region is open'
ends region_end self 'gex_NBI_EndAccessRegion: no region is open'
ends prepare_twice self 'gex_AM_PrepareRequestMedium: this thread has prepared'
ends prepare_reversed self 'gex_AM_PrepareRequestMedium: the least payload'
ends commit_more self 'gex_AM_Commit: .*is shorter'
ends commit_long self 'gex_AM_Commit: .*another kind'
ends commit_nothing self 'gex_AM_Commit: there is no such payload'
ends commit_twice self 'gex_AM_Commit: there is no such payload'
ends barrier_of_pair self 'a call for a team: .*gex_TM_Pair'
ends split_of_pair self 'a call for a team: .*gex_TM_Pair'
ends data_of_pair self 'a call for a team: .*gex_TM_Pair'
ends destroy_attached self 'gex_Segment_Destroy: the segment of gex_Segment_Attach'
ends destroy_host self 'gex_MK_Destroy: the kind was not made'
ends destroy_world self 'gex_TM_Destroy: '
ends atomic_bits self 'gex_AD_Create: invalid_argument'
ends rank self 'gex_RMA_PutBlocking: the call names a rank'
ends rank_long self 'gex_AM_RequestLong: the call names a rank'
ends root self 'gex_Coll_BroadcastNB: invalid_argument'
ends reduce self 'gex_Coll_ReduceToAllNB: no such operation'
if said=$("$run" --timeout 20 -n 2 "${options[@]}" "$client" count self 2>&1) || [[ ! $said =~ "1 arguments says that it has 3" ]]; then
  printf 'wrong.sh: a message with a wrong count of arguments: %s\n' "$said" >&2
  exit 1
fi
ends split_negative self 'gex_TM_Split: the colour is negative'
ends create_stranger self 'gex_TM_Create: args name a rank that the parent does not have'
ends create_twice self 'gex_TM_Create: args name this rank twice'
ends create_others self 'gex_TM_Create: .*args do not name this rank'
if [[ $checked == 1 ]]; then
  ends never_self self 'gex_RMA_PutBlocking: GEX_FLAG_PEER_NEVER_SELF'
  ends never_near self 'gex_RMA_GetNBI: GEX_FLAG_PEER_NEVER_NBRHD'
  ends offset next 'gex_RMA_PutBlocking: .*not implemented: pass addresses'
  ends put_group next 'gex_RMA_PutNB: lc_opt is'
  ends put_event next 'gex_RMA_PutNBI: lc_opt is'
  ends value_long next 'gex_RMA_PutBlockingVal: a value has 1 to 8 bytes'
  ends value_none next 'gex_RMA_GetBlockingVal: a value has 1 to 8 bytes'
  ends atomic_mine next 'gex_AD_Op: GEX_FLAG_AD_MY_RANK is not true'
  ends message_defer next 'gex_AM_RequestMedium: messages do not have GEX_EVENT_DEFER'
  ends commit_arguments next 'gex_AM_Commit: .*another number of arguments'
  ends region_sync self 'gex_NBI_Wait: an access region is open'
  ends region_test self 'gex_NBI_Test: an access region is open'
  ends reduce_size self 'gex_Coll_ReduceToAllNB: dt_sz is not the size'
  ends reduce_none self 'gex_Coll_ReduceToAllNB: dt_sz is 0'
  ends reduce_types self 'gex_Coll_ReduceToAllNB: dt is no data type'
  ends reduce_user self 'gex_Coll_ReduceToAllNB: GEX_DT_USER has'
  ends reduce_by_nothing self 'gex_Coll_ReduceToAllNB: user_op is null'
  ends no_op self 'gex_Event_Wait: GEX_EVENT_NO_OP'
  # Before its commit or cancel a payload shuts out all else.
  for call in put:RMA_PutBlocking get:RMA_GetNBI short:AM_RequestShort wait:NBI_Wait test:NBI_Test some:Event_TestSome each:Event_TestAll barrier:Coll_BarrierNB blocking:Coll_BarrierBlocking \
    split:TM_Split atomic:AD_Op pieces:VIS_IndexedPut query:EP_QueryBoundSegmentNB; do
    ends "prepared_${call%:*}" next "gex_${call#*:}: this thread has prepared"
  done
  ends prepared_poll next 'gasnet_AMPoll: this thread has prepared'
  ends test_prepared self 'gex_Event_Test: this thread has prepared'
  ends prepared_named next 'gasnet_barrier_notify: this thread has prepared'
  ends able_from next 'gex_RMA_PutBlocking: endpoint 2 of rank 0 .*without GEX_EP_CAPABILITY_RMA'
  for to in self next; do
    ends able_put $to 'gex_RMA_PutBlocking: endpoint 2 of rank .*without GEX_EP_CAPABILITY_RMA'
    ends able_get $to 'gex_RMA_GetNB: endpoint 2 of rank .*without GEX_EP_CAPABILITY_RMA'
    ends able_pieces $to 'gex_VIS_IndexedPut: endpoint 1 of rank .*without GEX_EP_CAPABILITY_VIS'
    ends able_short $to 'gex_AM_RequestShort: endpoint 1 of rank .*without GEX_EP_CAPABILITY_AM'
    ends able_prepare $to 'gex_AM_PrepareRequestMedium: endpoint 1 of rank .*without GEX_EP_CAPABILITY_AM'
    ends put_in_handler $to 'gex_RMA_PutBlocking: a handler'
    ends barrier_in_handler $to 'gex_Coll_BarrierNB: a handler'
    ends query_in_handler $to 'gex_EP_QueryBoundSegmentNB: a handler'
    ends reply_in_prepared $to 'gex_AM_ReplyShort: this thread has prepared'
    ends request_in_handler $to 'gex_AM_RequestShort: a handler'
    ends poll_in_handler $to 'gasnet_AMPoll: a handler'
    ends wait_in_handler $to 'GASNET_BLOCKUNTIL: a handler'
    ends sync_in_handler $to 'gex_NBI_Wait: a handler'
    ends test_in_handler $to 'gex_Event_Test: a handler'
    ends test_all_nbi_in_handler $to 'gex_NBI_Test: a handler'
    ends test_some_in_handler $to 'gex_Event_TestSome: a handler'
    ends test_each_in_handler $to 'gex_Event_TestAll: a handler'
  done
fi
echo 'all right'
