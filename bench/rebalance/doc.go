// Command rebalance simulates a day on which the load of 200 nodes is skewed, and compares what the planner of LoadAwareRebalancing makes
// of it with LowNodeLoad, the algorithm of upstream's descheduler, and with no descheduler at all. The pods follow recorded loads of a
// directory (-trace, in the format of `koordctl sandbox up --trace`), or loads that are generated from a seed.
//
// Both descheduler's decisions are the real ones. The rest is a model: a moved pod runs on its new node a minute later, NodeMetrics are a
// minute old, at most two pods leave a node at once, and one of a workload in five minutes, as the MigrationController has it by default;
// and where LowNodeLoad leaves the target to the scheduler, that is the node with the best mean of LoadAwareScheduling's and
// NodeResourcesFit's scores, among those below LoadAwareScheduling's thresholds.
package main
