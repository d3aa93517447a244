// GASNet's tools: names of signals. Constants, which a handler of signals may ask for: it must not allocate.

#include <gasnet_tools.h>

#include <signal.h>

extern "C" const char* gasnett_signame_fromval(int sigval) {
#define AQG_SIGNAL(name) \
  case SIG##name: return "SIG" #name;
  switch (sigval) {
    AQG_SIGNAL(ABRT)
    AQG_SIGNAL(ALRM)
    AQG_SIGNAL(BUS)
    AQG_SIGNAL(CHLD)
    AQG_SIGNAL(CONT)
    AQG_SIGNAL(FPE)
    AQG_SIGNAL(HUP)
    AQG_SIGNAL(ILL)
    AQG_SIGNAL(INT)
    AQG_SIGNAL(IO)
    AQG_SIGNAL(KILL)
    AQG_SIGNAL(PIPE)
    AQG_SIGNAL(PROF)
    AQG_SIGNAL(PWR)
    AQG_SIGNAL(QUIT)
    AQG_SIGNAL(SEGV)
    AQG_SIGNAL(STKFLT)
    AQG_SIGNAL(STOP)
    AQG_SIGNAL(SYS)
    AQG_SIGNAL(TERM)
    AQG_SIGNAL(TRAP)
    AQG_SIGNAL(TSTP)
    AQG_SIGNAL(TTIN)
    AQG_SIGNAL(TTOU)
    AQG_SIGNAL(URG)
    AQG_SIGNAL(USR1)
    AQG_SIGNAL(USR2)
    AQG_SIGNAL(VTALRM)
    AQG_SIGNAL(WINCH)
    AQG_SIGNAL(XCPU)
    AQG_SIGNAL(XFSZ)
    default: return nullptr;
  }
#undef AQG_SIGNAL
}
