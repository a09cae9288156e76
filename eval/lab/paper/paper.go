// Package paper has what only reproduces papers: their theory, their search and sizing algorithms as published, and the
// hash functions that they use. Experiments of the lab and tests of the families compare with it; no filter is built
// with it.
//
//	theory.go law.go           theory of partitioned hashing (Hao, Kodialam and Lakshman, 2007, sections 2 to 4)
//	greedy.go greedy_fast.go   its search (Fig. 9)
//	crc.go                     its practical hash functions (section 5.2)
//	rankindexed.go             sizing of rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008, sections IV and V)
//	compressed.go              compressed Bloom filters (Mitzenmacher, 2002)
//	md5.go                     the hashing of Plank's BF-tester
//	universal.go               the universal hashing of Saha's slides
//	bitmap.go                  a Bloom filter that takes positions, for all of these hashings
package paper
