// `HEADRACE_TIFF_FUNCTIONS` lists the functions of libtiff that we call.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_FUNCTIONS_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_FUNCTIONS_H_

#include <tiffio.h>

// Names without "TIFF"; tiffio.h has their types.
#define HEADRACE_TIFF_FUNCTIONS(USE)    \
  USE(OpenOptionsAlloc)                 \
  USE(OpenOptionsFree)                  \
  USE(OpenOptionsSetMaxSingleMemAlloc)  \
  USE(OpenOptionsSetErrorHandlerExtR)   \
  USE(OpenOptionsSetWarningHandlerExtR) \
  USE(ClientOpenExt)                    \
  USE(Close)                            \
  USE(GetField)                         \
  USE(GetFieldDefaulted)                \
  USE(SetField)                         \
  USE(IsTiled)                          \
  USE(IsByteSwapped)                    \
  USE(ScanlineSize)                     \
  USE(TileSize)                         \
  USE(TileRowSize)                      \
  USE(ComputeStrip)                     \
  USE(ComputeTile)                      \
  USE(ReadScanline)                     \
  USE(ReadEncodedStrip)                 \
  USE(ReadEncodedTile)                  \
  USE(GetStrileOffset)                  \
  USE(GetStrileByteCount)               \
  USE(RGBAImageOK)                      \
  USE(RGBAImageBegin)                   \
  USE(RGBAImageGet)                     \
  USE(RGBAImageEnd)

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_FUNCTIONS_H_
