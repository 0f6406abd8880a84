// Package prediction estimates, from how a node's pods behaved, the peak of what they will use, and with it how much
// of what prod pods request they will not need. The model is Koordinator's: decaying histograms with buckets that grow
// by 5 %, the 95th percentile of CPU and the 98th of memory plus a margin of 10 %, once per pod and once per class of
// pods; the more careful of the two counts. Pods younger than the cold start are taken to need all they request.
package prediction
