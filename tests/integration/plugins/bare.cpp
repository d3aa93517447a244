// A shared object that is no conduit.
extern "C" int something_else() { return 1; }
