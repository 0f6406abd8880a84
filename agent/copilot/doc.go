// Package copilot is the protocol by which the agent of a scheduler outside of Kubernetes, such as YARN's, tells koordlet which containers
// of its own run on the node, and ends them at koordlet's request: HTTP with JSON on a unix socket of the node.
//
//	GET  /health                      200 while the agent works
//	GET  /information                 Information
//	GET  /v1/containers               a list of Containers
//	GET  /v1/container?containerID=   one Container
//	POST /v1/killContainer            KillRequest with ContainerID
//	POST /v1/killContainersByResource KillRequest with Resources; answers the Containers that were killed
//
// What an agent answers is not trusted: sizes, names and cgroups are checked before anything is made of them.
package copilot
