// Package configuration reads the configuration file of koord-descheduler: DeschedulerConfiguration of descheduler/v1alpha2.
//
// It is read strictly, filled with defaults and validated as a whole, and an error names everything that is wrong. A file that becomes
// invalid while the descheduler runs is reported, and the last valid configuration stays in force.
package configuration
