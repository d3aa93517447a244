#include "sim/topology.hpp"

#include <stdexcept>

namespace aqueduct::sim {

namespace {

std::uint64_t product(const std::vector<std::uint32_t>& dimensions) {
  if (dimensions.empty() || dimensions.size() > 16)
    throw std::invalid_argument("a torus has 1 to 16 dimensions");
  std::uint64_t hosts = 1;
  for (const std::uint32_t size : dimensions) {
    if (size == 0) throw std::invalid_argument("a dimension of a torus has at least one host");
    hosts *= size;
    if (hosts > (1U << 28)) throw std::invalid_argument("a torus of these dimensions is too large");
  }
  return hosts;
}

class Torus final : public Topology {
 public:
  explicit Torus(const std::vector<std::uint32_t>& dimensions)
      : Topology(static_cast<Host>(product(dimensions)), product(dimensions) * 2 * dimensions.size()),
        dimensions_(dimensions) {}

  std::uint32_t hops(Host from, Host to) const override {
    std::uint32_t sum = 0;
    for (const std::uint32_t size : dimensions_) {
      const std::uint32_t up = (to % size + size - from % size) % size;
      sum += up < size - up ? up : size - up;
      from /= size;
      to /= size;
    }
    return sum;
  }
  std::string name() const override {
    std::string text = "torus of ";
    for (std::size_t i = 0; i < dimensions_.size(); ++i)
      text += (i == 0 ? "" : " x ") + std::to_string(dimensions_[i]);
    return text;
  }

 private:
  void between(Host from, Host to, std::uint64_t, Route& route) const override {
    Host at = from;
    std::uint64_t pitch = 1;
    for (std::uint32_t i = 0; i < dimensions_.size(); ++i) {
      const std::uint32_t size = dimensions_[i];
      const auto wanted = static_cast<std::uint32_t>(to / pitch % size);
      auto here = static_cast<std::uint32_t>(at / pitch % size);
      const std::uint32_t up = (wanted + size - here) % size;
      const bool rises = up <= size - up;
      while (here != wanted) {
        route.add(static_cast<Link>(2 * std::uint64_t{hosts()} +
                                    (std::uint64_t{at} * dimensions_.size() + i) * 2 + (rises ? 0 : 1)));
        const std::uint32_t next = rises ? (here + 1) % size : (here + size - 1) % size;
        at = static_cast<Host>(at + next * pitch - here * pitch);
        here = next;
      }
      pitch *= size;
    }
  }

  std::vector<std::uint32_t> dimensions_;
};

}  // namespace

std::unique_ptr<Topology> make_torus(const std::vector<std::uint32_t>& dimensions) {
  return std::make_unique<Torus>(dimensions);
}

}  // namespace aqueduct::sim
