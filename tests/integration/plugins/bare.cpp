// A shared object that is not a conduit.
extern "C" int something_else() { return 1; }
