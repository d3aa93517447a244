#pragma once

// Memory kinds of GASNet-EX. Only host memory is supported: gex_MK_Create of a device's kind returns GASNET_ERR_BAD_ARG,
// and no GASNET_HAVE_MK_CLASS_… of a device is defined.

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  GEX_MK_CLASS_HOST = 0,
  GEX_MK_CLASS_CUDA_UVA = 1,
  GEX_MK_CLASS_HIP = 2,
  GEX_MK_CLASS_ZE = 3
} gex_MK_Class_t;

typedef struct {
  uint64_t gex_flags;  ///< 0; the first member, whatever comes to be added
  gex_MK_Class_t gex_class;
  union {
    struct {
      int gex_CUdevice;
    } gex_class_cuda_uva;
    struct {
      int gex_hipDevice;
    } gex_class_hip;
    struct {
      void* gex_zeDevice;
      void* gex_zeContext;
      uint32_t gex_zeMemoryOrdinal;
    } gex_class_ze;
  } gex_args;
} gex_MK_Create_args_t;

int gex_MK_Create(gex_MK_t* kind_p, gex_Client_t client, const gex_MK_Create_args_t* args, gex_Flags_t flags);
void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
