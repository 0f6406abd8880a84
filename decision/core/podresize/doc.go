// Package podresize says whether the resources of a running pod can be changed in place, which is without a restart of its containers
// (subresource pods/resize, Kubernetes 1.33 and later). Who resizes pods, and to what, is decided elsewhere.
package podresize
