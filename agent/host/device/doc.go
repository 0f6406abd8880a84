// Package device lists the devices of a machine as its Device object reports them: GPUs, network cards with remote direct memory
// access, and what other daemons found and wrote down. It writes nothing.
package device
