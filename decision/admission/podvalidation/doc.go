// Package podvalidation answers whether a pod with co-location may be created or changed: whether its QoS class and its
// priority go together, whether it may use batch and mid resources, whether fields are left alone by which it was scheduled
// and accounted for, and whether its quota can hold it. It reports everything that is wrong at once.
package podvalidation
