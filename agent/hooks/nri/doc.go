// Package nri connects the agent to a container runtime by NRI, the interface that containerd and CRI-O have for plugins.
package nri
