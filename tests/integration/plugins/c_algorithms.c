// Algorithms of a program in C, for `aqcheck --plugin`: a config of the C interface is a Config.
#include "tests/c/algorithms/right.h"

void aqueduct_algorithms(aq_config* config);

void aqueduct_algorithms(aq_config* config) {
  static const most_members kMost = {64, "it is for up to 64 members"};
  const aq_algorithm broadcast = backwards(&kMost), reduction = all_inputs();
  (void)!aq_config_add_algorithm(config, &broadcast).code;
  (void)!aq_config_add_algorithm(config, &reduction).code;
}
