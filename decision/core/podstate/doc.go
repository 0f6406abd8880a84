// Package podstate reads how a pod is from its status.
package podstate
