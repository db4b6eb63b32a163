// Apache Kafka's own Java client against a broker: java -cp 'libs/*' RoundTrip.java HOST:PORT
// Creates a topic, writes it in committed and aborted transactions, reads it in a group, moves its offsets along in
// a transaction. Prints "ok" and exits with 0, or throws.

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class RoundTrip {
    static final String RUN = UUID.randomUUID().toString();

    public static void main(String[] args) throws Exception {
        Map<String, Object> to = Map.of("bootstrap.servers", args[0]);
        String topic = "java-" + RUN;
        try (Admin admin = Admin.create(to)) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        }
        try (KafkaProducer<String, String> plain = producer(args[0], null)) {
            for (int i = 0; i < 100; i++) plain.send(new ProducerRecord<>(topic, "k", "plain-" + i)).get();
        }
        try (KafkaProducer<String, String> tx = producer(args[0], "tx-" + RUN);
                KafkaConsumer<String, String> group = consumer(args[0])) {
            group.subscribe(List.of(topic));
            List<String> first = read(group, 100);
            check(first.get(99).equals("plain-99"), "plain records in order");
            tx.initTransactions();
            tx.beginTransaction();
            tx.send(new ProducerRecord<>(topic, "k", "dropped"));
            tx.flush();
            tx.abortTransaction();
            tx.beginTransaction();
            tx.send(new ProducerRecord<>(topic, "k", "kept"));
            TopicPartition partition = new TopicPartition(topic, 0);
            tx.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(100)), group.groupMetadata());
            tx.commitTransaction();
            check(read(group, 1).equals(List.of("kept")), "the aborted record is not read");
            check(group.committed(java.util.Set.of(partition)).get(partition).offset() == 100, "offsets committed");
        }
        System.out.println("ok");
    }

    static KafkaProducer<String, String> producer(String bootstrap, String transactionalId) {
        Map<String, Object> config = new java.util.HashMap<>(Map.of(
            "bootstrap.servers", bootstrap, "enable.idempotence", true, "compression.type", "gzip",
            "key.serializer", StringSerializer.class, "value.serializer", StringSerializer.class));
        if (transactionalId != null) config.put("transactional.id", transactionalId);
        return new KafkaProducer<>(config);
    }

    static KafkaConsumer<String, String> consumer(String bootstrap) {
        return new KafkaConsumer<>(Map.of(
            "bootstrap.servers", bootstrap, "group.id", "java-" + RUN, "group.instance.id", "one",
            "auto.offset.reset", "earliest", "enable.auto.commit", false, "isolation.level", "read_committed",
            "key.deserializer", StringDeserializer.class, "value.deserializer", StringDeserializer.class));
    }

    static List<String> read(KafkaConsumer<String, String> consumer, int count) {
        List<String> values = new ArrayList<>();
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (values.size() < count && System.nanoTime() < deadline)
            for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofMillis(200))) values.add(r.value());
        check(values.size() == count, "read " + values.size() + " records instead of " + count);
        return values;
    }

    static void check(boolean holds, String claim) {
        if (!holds) throw new AssertionError(claim);
    }
}
