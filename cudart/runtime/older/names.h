/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before everything else when the runtime is compiled for toolkit 12 or 11: functions
 * that changed their parameters get other names. Toolkit 13 took over the forms that toolkit 12
 * calls _v2 and _v3, so those come from here; names with crt13_ are not exported. The forms of
 * the older toolkits are in this folder's .c files.
 */
#ifndef PTXRUN_CUDART_RUNTIME_OLDER_NAMES_H
#define PTXRUN_CUDART_RUNTIME_OLDER_NAMES_H

#define cudaMemAdvise                            cudaMemAdvise_v2
#define cudaMemPrefetchAsync                     cudaMemPrefetchAsync_v2
#define cudaMemPrefetchAsync_ptsz                cudaMemPrefetchAsync_v2_ptsz
#define cudaGraphAddNode                         cudaGraphAddNode_v2
#define cudaGraphAddDependencies                 cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies              cudaGraphRemoveDependencies_v2
#define cudaGraphGetEdges                        cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies             cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes           cudaGraphNodeGetDependentNodes_v2
#define cudaStreamGetCaptureInfo                 cudaStreamGetCaptureInfo_v3
#define cudaStreamGetCaptureInfo_ptsz            cudaStreamGetCaptureInfo_v3_ptsz
#define cudaStreamUpdateCaptureDependencies      cudaStreamUpdateCaptureDependencies_v2
#define cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2_ptsz
#define cudaSignalExternalSemaphoresAsync        cudaSignalExternalSemaphoresAsync_v2
#define cudaSignalExternalSemaphoresAsync_ptsz   cudaSignalExternalSemaphoresAsync_v2_ptsz
#define cudaWaitExternalSemaphoresAsync          cudaWaitExternalSemaphoresAsync_v2
#define cudaWaitExternalSemaphoresAsync_ptsz     cudaWaitExternalSemaphoresAsync_v2_ptsz

#define cudaGetDeviceProperties                  crt13_get_device_properties
#define cudaChooseDevice                         crt13_choose_device
#define cudaPointerGetAttributes                 crt13_pointer_get_attributes
#define cudaMemcpyBatchAsync                     crt13_memcpy_batch
#define cudaMemcpyBatchAsync_ptsz                crt13_memcpy_batch_ptsz
#define cudaMemcpy3DBatchAsync                   crt13_memcpy_3d_batch
#define cudaMemcpy3DBatchAsync_ptsz              crt13_memcpy_3d_batch_ptsz

#if CUDART_VERSION < 12000
#define cudaFuncGetAttributes           crt13_func_get_attributes
#define cudaGetDriverEntryPoint         crt13_get_driver_entry_point
#define cudaGetDriverEntryPoint_ptsz    crt13_get_driver_entry_point_ptsz
#define cudaGraphInstantiate            crt13_graph_instantiate
#define cudaGraphExecUpdate             crt13_graph_exec_update
#define cudaGraphKernelNodeGetAttribute crt13_kernel_node_get_attribute
#define cudaGraphKernelNodeSetAttribute crt13_kernel_node_set_attribute
#define cudaStreamGetAttribute          crt13_stream_get_attribute
#define cudaStreamGetAttribute_ptsz     crt13_stream_get_attribute_ptsz
#define cudaStreamSetAttribute          crt13_stream_set_attribute
#define cudaStreamSetAttribute_ptsz     crt13_stream_set_attribute_ptsz
#endif

#endif
