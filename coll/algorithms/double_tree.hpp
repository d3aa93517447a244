#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>

namespace aqueduct::coll {

// Two binary trees over the members other than the root, such that no member has children in both. A vector is cut into
// segments; those with even numbers go along the first tree, the others along the second. So a member sends each segment
// as often as it receives one, while in one binary tree half of the members send nothing downwards.
//
// In the first tree the members have the labels 1 to P - 1. A label's children differ by less than its lowest bit, so
// odd labels are leaves. In the second tree the labels are mirrored if there is an even number of them, otherwise turned
// by one: then the odd ones are, but for one, the even ones of the first.
//
// Source: Sanders, Speck and Träff, Two-tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan, Parallel
//         Computing 35(12), 2009.

/// One of the two trees: its labels are 1 to `labels`.
struct HalfTree {
  Rank labels;
  bool second;

  Rank label(Rank here) const noexcept {
    if (!second) return here;
    if (labels % 2 == 0) return labels + 1 - here;
    return here == 1 ? labels : here - 1;
  }
  Rank here(Rank label) const noexcept {
    if (!second) return label;
    if (labels % 2 == 0) return labels + 1 - label;
    return label == labels ? 1 : label + 1;
  }
  /// The member that the root puts to: the label with the highest bit.
  Rank top() const noexcept {
    Rank label = 1;
    while (label <= labels / 2) label *= 2;
    return here(label);
  }
  /// 0, 1 or 2 labels: first the lower one.
  std::uint32_t children(Rank label) const noexcept {
    if (label % 2 != 0) return 0;
    return label < labels ? 2 : 1;
  }
  Rank child(Rank label, std::uint32_t index) const noexcept {
    Rank distance = (label & (~label + 1)) / 2;
    if (index == 0) return label - distance;
    while (label + distance > labels) distance /= 2;
    return label + distance;
  }
  /// Of a label that is not the top's: the label above it.
  Rank parent(Rank label) const noexcept {
    Rank above = label;
    do {
      const Rank bit = above & (~above + 1);
      above = (above & 2 * bit) != 0 ? above - bit : above + bit;
    } while (above > labels);  // a label that is missing stands for none: its lower child has its place
    return above;
  }
};

}  // namespace aqueduct::coll
