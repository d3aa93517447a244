#include <aqueduct/version.hpp>

#include "runtime/host.hpp"
#include "runtime/start.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace aqueduct::runtime {

namespace {

/// Settings on which the ranks of a job have to agree.
constexpr const char* kCommon[] = {"conduit", "near", "credits", "atomics"};

std::string common_settings(const Config& config) {
  std::string text;
  for (const char* name : kCommon) text += std::string(name) + "=" + config.text(name) + " ";
  return text;
}

std::span<const std::byte> as_blob(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<std::vector<std::string>> exchange_text(Job::Impl& job, const std::string& mine) {
  auto all = job.bootstrap->exchange(as_blob(mine));
  if (!all) return all.status();
  std::vector<std::string> texts;
  for (const Blob& blob : *all) texts.emplace_back(reinterpret_cast<const char*>(blob.data()), blob.size());
  return texts;
}

}  // namespace

Status meet(Job::Impl& job, std::size_t endpoints) {
  const std::string host = host_identity(job.config, job.bootstrap->host());
  BlobWriter mine;
  mine.number(library_version());
  mine.number(endpoints);
  mine.bytes(as_blob(host));
  const std::string settings = common_settings(job.config);
  mine.bytes(as_blob(settings));
  auto all = job.bootstrap->exchange(mine.blob());
  if (!all) {
    job.log.error("the processes of this job could not find one another: {}", all.status().text());
    return all.status();
  }
  std::map<Blob, std::uint32_t> hosts;
  Rank next = 0;
  for (std::uint32_t process = 0; process < all->size(); ++process) {
    BlobReader in((*all)[process]);
    const std::uint64_t version = in.number();
    const std::uint64_t count = in.number();
    const Blob where = in.bytes();
    const Blob theirs = in.bytes();
    if (!in.ok()) {
      job.log.error("what process {} says of itself cannot be read: is it another version of Aqueduct?",
                    process);
      return ErrorCode::version_mismatch;
    }
    if (version != library_version()) {
      job.log.error("process {} runs version {} of Aqueduct and this one {}: start one version everywhere",
                    process, version, library_version());
      return ErrorCode::version_mismatch;
    }
    if (!std::ranges::equal(theirs, as_blob(settings))) {
      job.log.error(
          "process {} has other settings than this one, {}here {}: give all ranks the same (aqrun -e "
          "NAME=VALUE)",
          process, std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()), settings);
      return ErrorCode::bad_setting;
    }
    const std::uint32_t number = hosts.emplace(where, static_cast<std::uint32_t>(hosts.size())).first->second;
    auto& ranks = job.ranks_of.emplace_back();
    for (std::uint64_t i = 0; i < count; ++i) {
      ranks.push_back(next++);
      job.process.host.push_back(number);
    }
  }
  job.process.config = &job.config;
  job.process.log = &job.log;
  job.process.job = job.bootstrap->job();
  job.process.ranks = next;
  job.process.mine = job.ranks_of[job.bootstrap->process()];
  return {};
}

Status open_networks(Job::Impl& job, core::Network* far) {
  if (far != nullptr) {
    job.far_network = far;
    return {};
  }
  bool one_host = true;
  for (std::uint32_t host : job.process.host) one_host = one_host && host == job.process.host.front();
  const auto ask_all = [&job](const std::string& mine) { return exchange_text(job, mine); };
  auto choice = choose_conduits(job.config, {one_host, job.ranks_of.size() == 1, ask_all}, job.log);
  if (!choice) return choice.status();
  job.choice = std::move(*choice);
  if (job.choice.far != nullptr) job.log.debug("conduit {}: {}", job.choice.far->name, job.choice.why);
  if (job.choice.near != nullptr) {
    auto network = job.choice.near->make(job.process);
    if (!network) return network.status();
    job.near_network = std::move(*network);
  }
  if (job.choice.far != nullptr) {
    auto network = job.choice.far->make(job.process);
    if (!network) return network.status();
    job.own_far_network = std::move(*network);
    job.far_network = job.own_far_network.get();
  }
  return {};
}

}  // namespace aqueduct::runtime
