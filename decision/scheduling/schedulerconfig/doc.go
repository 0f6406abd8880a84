// Package schedulerconfig reads from the scheduler's ConfigMap what other components have to know of it: the names of its profiles,
// and the arguments of the plugins that the configuration and the plan are held against.
package schedulerconfig
