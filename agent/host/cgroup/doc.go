// Package cgroup knows the cgroups of a node: where those of pods and containers are, which files hold a setting in either
// version, and how a value is written into them and read back. Values are those of version 1 everywhere above this package.
package cgroup
