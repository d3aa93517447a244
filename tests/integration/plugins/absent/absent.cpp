// The library that the plug-in `orphan` needs, and that the tests do not install.
extern "C" int aqueduct_test_absent() { return 0; }
