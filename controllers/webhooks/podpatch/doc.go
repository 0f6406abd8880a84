// Package podpatch answers admission requests for pods with what a webhook changed.
package podpatch
