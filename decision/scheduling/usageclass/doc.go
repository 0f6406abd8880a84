// Package usageclass keeps pods that burst together apart. Pods that serve the same kind of load - the web tier of a shop,
// video encoding after office hours - peak at the same time, and the peak of a node is the sum of what peaks together: a
// node with a mixture of classes needs less than one that is full of a single class. The idea is Eunomia's
// (usage-based co-location): a class is a label, and the share of a node that one class may request is bounded and scored.
package usageclass
