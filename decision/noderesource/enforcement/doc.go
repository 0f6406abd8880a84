// Package enforcement says whether a node agent can hold best-effort pods to what services leave. One that cannot must not have its
// node offer batch and mid resources: whoever takes them would be paid for by the services beside.
package enforcement
