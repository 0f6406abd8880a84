// Package interference decides whether a service is disturbed by its neighbours: by the time its processes wait for CPU, memory
// or input and output (pressure stall information), and by the cycles that an instruction costs it (CPI) against its own
// baseline. Both also rise for reasons within the service, so one window decides nothing: it takes several in a row to call a service
// disturbed, and more of them, below lower thresholds, to call it calm again.
package interference
