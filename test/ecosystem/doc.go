// Package ecosystem runs controllers of other projects beside the system: Kueue, which admits jobs before koord-scheduler sees their pods,
// and JobSet, whose pods form gangs. It needs the programs of `make ecosystem`, and is skipped where they are missing.
package ecosystem
