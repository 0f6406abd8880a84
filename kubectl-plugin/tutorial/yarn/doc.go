// Package yarn is the tutorial of Hadoop YARN: NodeManagers have what services leave of a node, and a job shrinks and grows with it.
package yarn
