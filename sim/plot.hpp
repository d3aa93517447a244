#pragma once

#include <string>
#include <vector>

namespace aqueduct::sim {

/// A line of a plot.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< both above 0
};

/// A plot with logarithmic axes, as an SVG picture. Points at 0 stand at the left edge's next power of two below.
std::string plot_svg(const std::string& title, const std::string& x_axis, const std::string& y_axis,
                     const std::vector<Series>& lines);

/// Whether plots can be written into this file, before the work whose plots they are. Empty, or what is wrong.
std::string plot_problem(const std::string& file);
/// Writes plots into a file: an SVG picture if it ends in .svg (one plot alone), otherwise a page in HTML. Empty, or what went wrong.
std::string write_plots(const std::string& file, const std::string& title,
                        const std::vector<std::string>& pictures);

}  // namespace aqueduct::sim
