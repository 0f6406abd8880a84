// Package pluginargs passes the arguments of the project's own plugins, plain structs of their decision packages, through the registry
// of sigs.k8s.io/descheduler, which knows arguments as runtime.Object.
package pluginargs
