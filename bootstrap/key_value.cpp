#include "bootstrap/key_value.hpp"

#include "bootstrap/blob.hpp"
#include "bootstrap/job_number.hpp"

#include <fmt/format.h>

#include <mutex>
#include <numeric>
#include <utility>

namespace aqueduct::bootstrap {
namespace {

using Audience = KeyValueSpace::Audience;

class OverKeyValues final : public Bootstrap {
 public:
  OverKeyValues(std::unique_ptr<KeyValueSpace> space, std::uint32_t gather_from)
      : space_(std::move(space)), gather_from_(gather_from) {}

  std::string_view launcher() const noexcept override { return space_->launcher(); }
  std::uint32_t process() const noexcept override { return space_->process(); }
  std::uint32_t processes() const noexcept override { return space_->processes(); }
  std::uint64_t job() const noexcept override { return job_; }
  std::string host() const override { return space_->host(); }

  Result<std::vector<Blob>> exchange(std::span<const std::byte> mine) override {
    const std::lock_guard turn(exchanging_);
    // Process 0 draws the job's number: launchers name their key-value spaces, but may reuse the names.
    BlobWriter out;
    if (round_ == 0) out.number(new_job_number());
    Blob numbered = out.blob();
    numbered.insert(numbered.end(), mine.begin(), mine.end());
    std::vector<std::uint32_t> everybody(processes());
    std::iota(everybody.begin(), everybody.end(), 0u);
    auto all = share({{round_name(""), Audience::everybody, numbered, everybody, everybody}});
    if (all && round_ == 0) {
      job_ = BlobReader(all->front()).number();
      for (Blob& blob : *all) {
        if (blob.size() < sizeof job_) return finish(ErrorCode::bootstrap_failed);
        blob.erase(blob.begin(), blob.begin() + sizeof job_);
      }
    }
    static_cast<void>(finish(all.status()));
    return all;
  }

  Result<std::vector<Blob>> exchange_parts(Parts mine, const std::vector<bool>& is_neighbour) override {
    if (round_ == 0) return Bootstrap::exchange_parts(mine, is_neighbour);
    const std::lock_guard turn(exchanging_);
    ExchangePart near{round_name(".near"), Audience::neighbours, mine.to_neighbours, {}, {}};
    ExchangePart far{round_name(".far"), Audience::others, mine.to_others, {}, {}};
    // The launcher and the library may disagree about who is on this host
    // (AQUEDUCT_HOST_ID). If so, everybody gets the value.
    for (std::uint32_t p = 0; p < processes(); ++p) {
      const bool known = p == process() || space_->knows_as_neighbour(p);
      ExchangePart& part = is_neighbour[p] ? near : far;
      part.wanted.push_back(p);
      if (is_neighbour[p] != known) part.audience = Audience::everybody;
    }
    near.given_by = near.wanted;
    far.given_by.resize(processes());
    std::iota(far.given_by.begin(), far.given_by.end(), 0u);
    if (far.wanted.empty()) far.given_by.clear();  // everybody is on this host: nobody needs this part
    auto all = share({std::move(near), std::move(far)});
    static_cast<void>(finish(all.status()));
    return all;
  }

  void poll_losses(const std::function<void(std::uint32_t)>& lost) noexcept override {
    space_->poll_losses(lost);
  }
  void leave() noexcept override { space_->leave(); }
  void abort(int exit_code, std::string_view why) noexcept override { space_->abort(exit_code, why); }
  void exit(int code) noexcept override {
    Bootstrap::exit(code);
    space_->wait_for_abort();
  }

 private:
  /// One part of an exchange. Each process in `given_by` puts its value of the part under the name and the round.
  struct ExchangePart {
    std::string name;
    Audience audience;
    std::span<const std::byte> mine;
    std::vector<std::uint32_t> given_by;  // ascending, includes this process; empty: nobody needs the part
    std::vector<std::uint32_t> wanted;    // those of `given_by` whose value this process needs
  };

  std::string round_name(const char* part) const {
    return fmt::format("aqueduct.{}.{}{}", space_->use(), round_, part);
  }

  /// Puts this process's values of all parts. Returns, by process, the value that this process wants from it.
  Result<std::vector<Blob>> share(std::vector<ExchangePart> parts) {
    if (failure_ != ErrorCode::ok) return failure_;
    const bool gathering = processes() >= gather_from_;
    for (ExchangePart& part : parts) {
      if (part.given_by.empty()) continue;
      // The process that gathers a part needs all of it, on whichever host it is.
      if (gathering && part.given_by.size() == processes()) part.audience = Audience::everybody;
      if (const Status status = space_->put(part.name, part.mine, part.audience); !status) return status;
    }
    if (const Status met = space_->fence(); !met) return met;
    std::vector<Blob> all(processes());
    if (!gathering) {
      for (const ExchangePart& part : parts) {
        for (const std::uint32_t p : part.wanted) {
          auto blob = space_->get(p, part.name);
          if (!blob) return blob.status();
          all[p] = std::move(*blob);
        }
      }
      return all;
    }
    // The first giver of each part fetches what all gave, and puts it as one value.
    const Blob unreadable(1);
    Status gathered;
    for (const ExchangePart& part : parts) {
      if (part.given_by.empty() || part.given_by.front() != process()) continue;
      BlobWriter together;
      for (const std::uint32_t p : part.given_by) {
        const auto blob = space_->get(p, part.name);
        if (!blob) {
          if (gathered) gathered = blob.status();
          break;  // each further process that has ended would cost the time limit again
        }
        together.bytes(*blob);
      }
      // After a failure it puts an unreadable value, because the others would wait for the name.
      const Blob& value = gathered ? together.blob() : unreadable;
      const Status put = space_->put(part.name + ".all", value, part.audience);
      if (gathered) gathered = put;
    }
    if (const Status met = space_->fence(); !met) return met;
    if (!gathered) return gathered;
    for (const ExchangePart& part : parts) {
      if (part.wanted.empty()) continue;
      const auto together = space_->get(part.given_by.front(), part.name + ".all");
      if (!together) return together.status();
      BlobReader in(*together);
      auto next = part.wanted.begin();
      for (const std::uint32_t p : part.given_by) {
        Blob blob = in.bytes();
        if (next == part.wanted.end() || *next != p) continue;
        all[p] = std::move(blob);
        ++next;
      }
      if (!in.ok()) return ErrorCode::bootstrap_failed;
    }
    return all;
  }

  Status finish(Status how) noexcept {
    ++round_;
    if (!how) failure_ = how.code();
    return how;
  }

  const std::unique_ptr<KeyValueSpace> space_;
  const std::uint32_t gather_from_;
  std::mutex exchanging_;
  std::uint32_t round_ = 0;
  std::uint64_t job_ = 0;
  ErrorCode failure_ = ErrorCode::ok;
};

}  // namespace

std::unique_ptr<Bootstrap> over(std::unique_ptr<KeyValueSpace> space, std::uint32_t gather_from) {
  return std::make_unique<OverKeyValues>(std::move(space), gather_from);
}

}  // namespace aqueduct::bootstrap
