// A plug-in whose library is missing, like that of ofi at a site without libfabric.
extern "C" int aqueduct_test_absent();
extern "C" int uses_it() { return aqueduct_test_absent(); }
