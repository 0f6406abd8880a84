// Package enforcement says whether a node agent can hold best-effort pods to what services leave. One that cannot must not have its
// node offer batch and mid resources: services would pay for pods that use them.
package enforcement
