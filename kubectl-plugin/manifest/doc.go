// Package manifest reads pods from manifests: Pods, and the pod templates of workloads.
package manifest
