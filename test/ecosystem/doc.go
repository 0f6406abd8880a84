// Package ecosystem runs controllers of other projects beside the system: Kueue, which admits jobs before koord-scheduler sees their pods,
// JobSet, whose pods form gangs, and autoscalers, which size or scale what the system recommends and rebalances. It needs
// the programs of `make ecosystem`, and is skipped where they are missing.
package ecosystem
