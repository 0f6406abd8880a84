// Package deviceview says how the devices of a node fare: what each GPU, network card and FPGA offers, who holds it, what is free and
// what lies close to it, and for each type the largest request that still fits. The amounts are those that package device, by which
// koord-scheduler allocates, computes from the same objects.
package deviceview
