package main

type (
	name string
	blob []byte
	id   uint64
)
