package com.google.common.hash; // only this package can name the older strategy

/** Makes filters of both strategies. */
public final class Door {
  private Door() {}

  public static <T> BloomFilter<T> create(Funnel<? super T> funnel, long keys, double rate, String strategy) {
    return BloomFilter.create(funnel, keys, rate, BloomFilterStrategies.valueOf("MURMUR128_MITZ_" + strategy));
  }
}
