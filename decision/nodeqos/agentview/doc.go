// Package agentview turns what is decided for a node - suppression, pools of CPUs, evictions - into the answer that people and
// programs read, and decides it from the objects of the cluster alone where no agent can be asked. The agent, the simulated
// agents and the workbench answer through it, so that the same decision reads the same everywhere.
package agentview
