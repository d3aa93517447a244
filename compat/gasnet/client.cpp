// The start of the job, and what is known of it.

#include <aqueduct/coll.hpp>

#include "compat/gasnet/state.hpp"
#include "compat/gasnet/tools.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

extern "C" {
uint32_t aqg_job_rank = ~0u;
uint32_t aqg_job_size = 0;
gex_TM_t aqg_world_tm = nullptr;
const aqg_shift* aqg_shifts = nullptr;
void (*gasnet_client_attach_hook)(void*, uintptr_t) = nullptr;
// A client's own definition takes the place of these.
[[gnu::weak]] const char* gasnet_max_segsize_str = nullptr;
[[gnu::weak]] uint64_t gasnet_max_segsize = 0;
extern char** environ;
}

namespace aqueduct::gasnet {

State* the_state = nullptr;
std::atomic<bool> verbose_errors{true};
std::atomic<int> wait_mode{GASNET_WAIT_SPINBLOCK};

namespace {

constexpr std::uint64_t kPage = GASNET_PAGESIZE;
// A long message of any size is possible; programs allocate buffers of the largest one. Chosen.
constexpr std::size_t kMostLong = std::size_t{1} << 20;

/// Rank 0's environment becomes everybody's.
const char* find_variable(const char* name);

Status share_environment(State& s) {
  std::string text;
  if (s.me() == 0) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      text += *variable;
      text += '\0';
    }
  }
  std::uint64_t bytes = text.size();
  if (Status status = broadcast(s.ep.world(), std::span(&bytes, 1)); !status) return status;
  text.resize(bytes);
  if (Status status = broadcast(s.ep.world(), std::span(text.data(), text.size())); !status) return status;
  for (std::size_t at = 0; at < text.size(); at += std::strlen(text.data() + at) + 1) {
    s.environment.emplace_back(text.data() + at);
  }
  job_variable = find_variable;
  return {};
}

const char* find_variable(const char* name) {
  const std::size_t length = std::strlen(name);
  for (const std::string& variable : state().environment) {
    if (variable.size() > length && variable[length] == '=' && variable.compare(0, length, name) == 0) {
      return variable.c_str() + length + 1;
    }
  }
  return nullptr;
}

/// Numbers the groups of equal values in the order of their first members.
Rank number(const std::vector<Rank>& values, std::vector<Rank>& numbers) {
  std::map<Rank, Rank> known;
  numbers.clear();
  for (const Rank value : values) {
    numbers.push_back(known.emplace(value, static_cast<Rank>(known.size())).first->second);
  }
  return static_cast<Rank>(known.size());
}

/// GASNET_SUPERNODE_MAXSIZE: keeps this rank's part, if the neighbourhood is cut into parts of that many. Ranks of other parts
/// stay mapped, and transfers go on to use that.
void cut_neighbourhood(State& s) {
  const std::int64_t most = gasnett_getenv_int_withdefault("GASNET_SUPERNODE_MAXSIZE", 0, 0);
  if (most <= 0 || static_cast<std::uint64_t>(most) >= s.nbrhd.size()) return;
  const auto mine = std::lower_bound(s.nbrhd.begin(), s.nbrhd.end(), s.me()) - s.nbrhd.begin();
  const std::ptrdiff_t first = mine / most * most;
  const std::ptrdiff_t end = std::min<std::ptrdiff_t>(first + most, std::ssize(s.nbrhd));
  s.nbrhd = std::vector<Rank>(s.nbrhd.begin() + first, s.nbrhd.begin() + end);
}

Status find_neighbours(State& s) {
  // The primary segment tells who can be mapped: every rank has a page of it.
  map_all(s.ep);
  s.nbrhd = mapped_ranks(s.ep);
  if (s.nbrhd.empty()) s.nbrhd.push_back(s.me());
  cut_neighbourhood(s);
  std::vector<Rank> first(s.ep.ranks());
  if (Status status = all_gather(s.ep.world(), std::span<const Rank>(&s.nbrhd.front(), 1), std::span(first));
      !status) {
    return status;
  }
  s.nbrhds = number(first, s.nbrhd_of);
  const auto host = s.ep.neighbours();
  s.host.assign(host.begin(), host.end());
  for (Rank rank = 0; rank < s.ep.ranks(); ++rank) first[rank] = s.ep.host_of(rank);
  s.hosts = number(first, s.host_of);
  return {};
}

/// What GASNET_MAX_SEGSIZE or gasnet_max_segsize_str, which is its `name`, asks for: a size, or a fraction of the machine's memory
/// such as 0.85; "/H" behind it is for all ranks of a host together, "/P" or nothing for each.
std::uint64_t segment_limit(const State& s, const char* name, std::string_view wanted) {
  const std::string size(wanted.substr(0, wanted.find('/')));
  const bool fraction =
      size.find('.') != std::string::npos && std::isalpha(static_cast<unsigned char>(size.back())) == 0;
  const std::size_t unit = size.find_first_not_of("0123456789 \t+.");
  const bool known_unit = unit == std::string::npos || std::strchr("TtGgMmKkBbXx", size[unit]) != nullptr;
  if (size.find_first_of("0123456789") != size.find_first_not_of(" \t+.") || !known_unit) {
    const std::string text = "'" + std::string(wanted) + "' is no size; try 256MB, 0.5, or 2GB/H for a host";
    fail(name, text.c_str());
  }
  const std::int64_t bytes = gasnett_parse_int(size.c_str(), fraction ? gasnett_getPhysMemSz(1) : 1);
  if (bytes <= 0) return SIZE_MAX;
  const bool of_host = wanted.ends_with("/H") || wanted.ends_with("/h");
  return static_cast<std::uint64_t>(bytes) / (of_host ? std::max<std::size_t>(s.host.size(), 1) : 1);
}

Status find_limits(State& s) {
  std::uint64_t limits[4] = {SIZE_MAX, SIZE_MAX, 0, 0};
  for (Rank peer = 0; peer < s.ep.ranks(); ++peer) {
    if (peer == s.me() && s.ep.ranks() > 1) continue;  // messages to oneself do not travel
    const AmLimits of_peer = am_limits(s.ep, peer);
    limits[0] = std::min<std::uint64_t>(limits[0], of_peer.medium);
    limits[1] = std::min<std::uint64_t>(limits[1], of_peer.long_reply);
  }
  std::uint64_t most = Segment::most_bytes(s.ep).rank;
  const char* wanted = gasnet_getenv("GASNET_MAX_SEGSIZE");
  const bool by_user = wanted != nullptr && *wanted != 0;
  if (!by_user) wanted = gasnet_max_segsize_str;
  if (wanted != nullptr)
    most =
        std::min(most, segment_limit(s, by_user ? "GASNET_MAX_SEGSIZE" : "gasnet_max_segsize_str", wanted));
  else if (gasnet_max_segsize != 0)
    most = std::min<std::uint64_t>(most, gasnet_max_segsize);
  s.most_segment = std::max(most / kPage * kPage, kPage);
  limits[2] = s.most_segment;
  limits[3] = limits[1];
  if (Status status = all_reduce(s.ep.world(), std::span(limits), ReduceOp::min); !status) return status;
  s.medium = limits[0];
  s.long_request = kMostLong;
  s.long_reply = std::min<std::size_t>(limits[1], kMostLong);
  s.least_long_reply = std::min<std::size_t>(limits[1], s.medium);
  s.most_segment_all = limits[2];
  return {};
}

Status make_teams(State& s) {
  auto leaving = s.ep.world().dup();
  if (!leaving) return leaving.status();
  s.exit_team.emplace(std::move(*leaving));
  return {};
}

int begin(Threads threads, const char* client, gex_Flags_t flags) {
  // Before the job: peers that wait for each other here have no reason yet to take one for lost.
  if (gasnett_getenv_yesno_withdefault("GASNET_FREEZE", 0)) freeze();
  Config config = Config::from_environment();
  if (config.origin("threads") == SettingOrigin::built_in) static_cast<void>(config.set(threads));
  // This layer has segments of its own, and needs only a page of the primary one.
  if (config.origin("segment_bytes") == SettingOrigin::built_in) {
    static_cast<void>(config.set("segment_bytes", std::to_string(kPage)));
  }
  auto job = Job::start(config);
  if (!job) {
    std::fprintf(stderr, "*** GASNet: Aqueduct could not start the job: %s\n", job.status().text().c_str());
    return GASNET_ERR_RESOURCE;
  }
  if (job->endpoints() != 1) {
    std::fprintf(stderr,
                 "*** GASNet: this process has %u ranks (aqrun --endpoints, AQUEDUCT_ENDPOINTS), and a "
                 "client has one\n",
                 static_cast<unsigned>(job->endpoints()));
    return GASNET_ERR_RESOURCE;
  }
  Endpoint& ep = job->endpoint();
  auto space = HandlerSpace::create(ep, "gasnet");
  Status status = space.status();
  if (status) status = add_raw_handlers(*space);
  if (!status) {
    std::fprintf(stderr, "*** GASNet: %s\n", status.text().c_str());
    return GASNET_ERR_RESOURCE;
  }
  the_state = new State(std::move(*job), ep, *space);  // lives as long as the process
  State& s = *the_state;
  aqg_job_rank = ep.rank();
  rank_here = ep.rank();
  aqg_job_size = ep.ranks();
  s.client.name = client != nullptr ? client : "";
  s.client.flags = flags;
  s.legacy = (flags & GEX_FLAG_USES_GASNET1) != 0;
  s.threads_deferred = (flags & GEX_FLAG_DEFER_THREADS) != 0;

  s.endpoints[0] = std::make_unique<aqg_endpoint>();
  s.endpoints[0]->capabilities = GEX_EP_CAPABILITY_ALL;
  s.bound[0] = std::make_unique<Bound[]>(ep.ranks());
  s.places[0] = make_places(ep.ranks());
  s.shifts = make_shifts(ep.ranks());
  s.world = new (at_end_of_page(sizeof(Tm))) Tm;
  s.world->ep = handle_of(ep);
  s.world->places = s.places[0];
  s.world->shifts = aqg_shifts = s.shifts;
  s.world->rank = ep.rank();
  s.world->size = ep.ranks();
  s.world->team = &ep.world();
  aqg_world_tm = s.world;

  if (status = share_environment(s); status) status = find_neighbours(s);
  if (status) status = find_limits(s);
  if (status) status = make_teams(s);
  if (status) status = ep.barrier();
  if (!status) fail("gex_Client_Init", nullptr, status);
  watch_the_end();
  return GASNET_OK;
}

}  // namespace

int start(Threads threads, const char* client, gex_Flags_t flags) {
  if (the_state != nullptr)
    return error(GASNET_ERR_NOT_INIT, "gex_Client_Init", "the process has a client already");
  return begin(threads, client, flags);
}

int error(int code, const char* call, const char* why) {
  if (verbose_errors) {
    std::fprintf(stderr, "*** GASNet: %s returns %s (%s): %s\n", call, gasnet_ErrorName(code),
                 gasnet_ErrorDesc(code), why);
  }
  return code;
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

namespace {

/// A list of ranks as GASNet's type, which has one member.
gex_RankInfo_t* as_info(const std::vector<Rank>& ranks) {
  static_assert(sizeof(gex_RankInfo_t) == sizeof(Rank));
  return reinterpret_cast<gex_RankInfo_t*>(ranks.data());
}

void tell_ranks(const std::vector<Rank>& ranks, gex_RankInfo_t** info, gex_Rank_t* count, gex_Rank_t* mine) {
  if (info != nullptr) *info = as_info(ranks);
  if (count != nullptr) *count = static_cast<gex_Rank_t>(ranks.size());
  if (mine != nullptr) {
    *mine =
        static_cast<gex_Rank_t>(std::lower_bound(ranks.begin(), ranks.end(), state().me()) - ranks.begin());
  }
}

struct Error {
  int code;
  const char* name;
  const char* meaning;
};
constexpr Error kErrors[] = {
    {GASNET_OK, "GASNET_OK", "No error"},
    {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT", "GASNet message layer not initialized"},
    {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE", "Problem with requested resource"},
    {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG", "Invalid function parameter passed"},
    {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY", "Non-blocking operation not complete"},
    {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH", "Barrier id's mismatched"},
};

}  // namespace

extern "C" {

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) { return client->flags; }
const char* gex_Client_QueryName(gex_Client_t client) { return client->name.c_str(); }
void gex_Client_SetCData(gex_Client_t client, const void* val) { client->data = const_cast<void*>(val); }
void* gex_Client_QueryCData(gex_Client_t client) { return client->data; }

const char* gasnet_ErrorName(int errval) {
  for (const Error& known : kErrors) {
    if (known.code == errval) return known.name;
  }
  return "*unknown*";
}
const char* gasnet_ErrorDesc(int errval) {
  for (const Error& known : kErrors) {
    if (known.code == errval) return known.meaning;
  }
  return "no description available";
}

int gasnet_set_waitmode(int mode) {
  if (mode < GASNET_WAIT_SPIN || mode > GASNET_WAIT_SPINBLOCK) {
    return error(GASNET_ERR_BAD_ARG, "gasnet_set_waitmode", "no such mode");
  }
  wait_mode = mode;
  return GASNET_OK;
}
uintptr_t gasnet_getMaxLocalSegmentSize(void) { return state().most_segment; }
uintptr_t gasnet_getMaxGlobalSegmentSize(void) { return state().most_segment_all; }

int gex_System_GetVerboseErrors(void) { return verbose_errors ? 1 : 0; }
void gex_System_SetVerboseErrors(int enable) { verbose_errors = enable != 0; }
uint64_t gex_System_QueryMaxThreads(void) {
  if (state().ep.threads() == Threads::single) return 1;
  static const std::int64_t wanted =
      gasnett_getenv_int_withdefault("GASNET_MAX_THREADS", GASNETT_MAX_THREADS, 0);
  return wanted < 1 ? GASNETT_MAX_THREADS
                    : static_cast<uint64_t>(std::min<std::int64_t>(wanted, GASNETT_MAX_THREADS));
}
int gex_System_QueryHiddenAMConcurrencyLevel(void) { return 0; }
int gex_System_QueryProgressThreads(gex_Client_t, unsigned int* count_p,
                                    const gex_ProgressThreadInfo_t** info_p, gex_Flags_t flags) {
  const char* const call = "gex_System_QueryProgressThreads";
  if (count_p == nullptr || info_p == nullptr || flags != 0)
    return error(GASNET_ERR_BAD_ARG, call, "an argument is wrong");
  if (!state().threads_deferred) {
    return error(GASNET_ERR_RESOURCE, call, "the client was initialised without GEX_FLAG_DEFER_THREADS");
  }
  *count_p = 0;  // Aqueduct's threads run no handlers, and start with the job
  *info_p = nullptr;
  return GASNET_OK;
}
void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                               gex_Rank_t* my_info_index_p) {
  tell_ranks(state().nbrhd, info_p, info_count_p, my_info_index_p);
}
void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                              gex_Rank_t* my_info_index_p) {
  tell_ranks(state().host, info_p, info_count_p, my_info_index_p);
}
void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size_p, gex_Rank_t* nbrhd_set_rank_p,
                                gex_Rank_t* host_set_size_p, gex_Rank_t* host_set_rank_p) {
  const State& s = state();
  if (nbrhd_set_size_p != nullptr) *nbrhd_set_size_p = s.nbrhds;
  if (nbrhd_set_rank_p != nullptr) *nbrhd_set_rank_p = s.nbrhd_of[s.me()];
  if (host_set_size_p != nullptr) *host_set_size_p = s.hosts;
  if (host_set_rank_p != nullptr) *host_set_rank_p = s.host_of[s.me()];
}

char* gasnet_getenv(const char* s) { return gasnett_getenv(s); }
}
